import { realMassgen } from "../support/massgen.ts";
import { conformance } from "./conformance.ts";
import { realTarget } from "./target.ts";

conformance(realTarget(realMassgen()));
