import { existsSync } from "node:fs";
import { resolve } from "node:path";

/**
 * Path of the real `massgen`: MG_TEST_MASSGEN when npm test has set it, else what test/massgen/install.sh installs or finds.
 * Throws when it cannot be installed; install.sh has then said why.
 */
export function realMassgen(): string {
  const given = process.env.MG_TEST_MASSGEN;
  if (given !== undefined && existsSync(given)) return given;
  const install = Bun.spawnSync([resolve(import.meta.dir, "../massgen/install.sh")], { stderr: "inherit" });
  if (!install.success) throw new Error("MassGen could not be installed; install.sh says why above");
  return install.stdout.toString().trim();
}
