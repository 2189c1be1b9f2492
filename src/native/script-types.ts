/** What a scripted model knows when it is asked: what stands in its prompt. */
export interface Scene {
  readonly query: string;
  /** The answers so far, in the order in which they are shown. */
  readonly answers: readonly { readonly label: string; readonly text: string }[];
}

/** One reply of a scripted model. */
export interface ScriptedReply {
  /** What it says to itself, word by word. */
  readonly says: string;
  readonly calls: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];
}

/** A scripted model: its replies of one step, in order; the last one repeats. */
export type Script = (scene: Scene) => readonly ScriptedReply[];
