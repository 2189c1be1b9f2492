/** Modules that the program itself serves to plugin files, exactly by these names. */
export const hostModules = ["mg-team", "zod", "zod/v4", "tapable"] as const;

export type HostModule = (typeof hostModules)[number];
