/**
 * What scripted models say, as data: by model name, or by `key:<api key>`, a list of turns. Each request that offers workflow tools uses
 * the next turn; the last turn repeats. Turns are counted over the whole life of the server, so that a list reads like the
 * agent's story over all its steps: `[{ write: {...} }, { answer: "…" }, { vote: "agent_b" }]`.
 */
export type ModelScripts = Readonly<Record<string, readonly Turn[]>>;

/** One reply of a model. Exactly one of answer, vote, read, write, call, text, status, cut. */
export interface Turn {
  /** Calls `new_answer` with this content. */
  readonly answer?: string;
  /** Calls `vote`: with a raw id, as the prompt shows it; or as the offered enum wants it. */
  readonly vote?: string | ObedientVote;
  /**
   * Calls MassGen's file tool once for each file: path relative to the workspace → content, in which `{{1}}` is what the first tool call of the
   * conversation brought, and so on. A turn whose file tool is not offered, or whose calls bring an error, because the file server is late, is played again.
   */
  readonly write?: Readonly<Record<string, string>>;
  /** Calls the file tool that reads, once for each. */
  readonly read?: readonly SourceFile[];
  /** Calls any tool. */
  readonly call?: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
  /** Says something and calls nothing. */
  readonly text?: string;
  /** Refuses with this HTTP status: 400, 401, 404, 429, 500. */
  readonly status?: number;
  /** The stream ends before the reply is complete. */
  readonly cut?: boolean;
  readonly reason?: string;
  /** Waits until the test calls `release(name)`. */
  readonly hold?: string;
  /** Tokens that the provider reports; default 1000 in, 100 out. */
  readonly usage?: { readonly input: number; readonly output: number };
}

/** Votes like a model that obeys the tool's schema: for the label of the answer that contains `preferring`, if the enum offers it. */
export interface ObedientVote {
  readonly preferring: string;
}

/** A file whose place the conversation tells. */
export interface SourceFile {
  /** Regular expression whose first group finds a path in the conversation. */
  readonly at: string;
  /** What is below that path; empty for the path itself. */
  readonly name: string;
}

/** A request as it came, for assertions. */
export interface RecordedRequest {
  readonly path: string;
  readonly model: string;
  readonly key: string;
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  /** The enum of the vote tool; null when it is not offered, or has none. */
  readonly voteEnum: readonly string[] | null;
  /** All text of the conversation, in order. */
  readonly text: string;
  /** The turn that answered it; null for requests that are no turn of a script. */
  readonly turn: Turn | null;
  readonly body: unknown;
}
