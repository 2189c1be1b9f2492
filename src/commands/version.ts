import manifest from "../../package.json" with { type: "json" };

/** The version of mg-team, as `--version` and the journal say it. */
export const version: string = manifest.version;
