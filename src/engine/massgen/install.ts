/** A MassGen that was found and asked for its `--help` (by `find.ts` and `probe.ts`). */
export interface MassgenInstall {
  /** How to start it: `["massgen"]`, `["uvx", "massgen"]`, `["bash", "/p/scripts/run-massgen.sh"]`. Never empty. */
  readonly argv: readonly string[];
  /** As it reports itself; "unknown" when it does not. */
  readonly version: string;
  /** Options that its `--help` lists, with their dashes: `--step`, `--stream-events`, `--no-parse-at-references`. */
  readonly flags: ReadonlySet<string>;
  /** Where it was found, for people: "MG_TEAM_MASSGEN", "massgen on PATH". */
  readonly source: string;
  /** The Python that runs it, by what its files or its warnings tell; absent where they tell nothing. */
  readonly interpreter?: string;
}
