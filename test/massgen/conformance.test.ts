import { conformance } from "./conformance.ts";
import { fakeTarget } from "./target.ts";

conformance(fakeTarget);
