import { resolve } from "node:path";
import { conformance } from "./conformance.ts";
import { realTarget } from "./target.ts";

const install = Bun.spawnSync([resolve(import.meta.dir, "install.sh")], { stderr: "inherit" });
if (!install.success) throw new Error("MassGen could not be installed; install.sh says why above");
conformance(realTarget(install.stdout.toString().trim()));
