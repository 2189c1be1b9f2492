/**
 * Builds the single binary: `npm run build` for this machine, `npm run build -- --target=linux-arm64` for another, `--all` for every one.
 * The two `autoload… false` keep the binary from running `preload` of the caller's bunfig.toml and from loading the caller's .env
 * (reliability.md, "Build flags"); package.json is loaded so that a plugin's own node_modules resolve. The types for plugins, which the binary
 * brings along, are made before (types/generate.ts).
 */
import { mkdir } from "node:fs/promises";
import { updateTypes } from "./types/generate.ts";

const targets = [
  "linux-x64",
  "linux-x64-baseline",
  "linux-x64-musl",
  "linux-arm64",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
  "windows-x64-baseline",
] as const;
type Target = (typeof targets)[number];

const asked = requested(process.argv.slice(2));
if (!(await updateTypes())) process.stdout.write("the types for plugins are new: commit them\n");
await mkdir("dist", { recursive: true });
for (const target of asked) await compile(target);

/** @param target null for this machine */
async function compile(target: Target | null): Promise<void> {
  const outfile = target === null ? "dist/mg-team" : `dist/mg-team-${target}${target.startsWith("windows") ? ".exe" : ""}`;
  const result = await Bun.build({
    entrypoints: ["src/cli.ts"],
    compile: {
      outfile,
      ...(target === null ? {} : { target: `bun-${target}` }),
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: true,
    },
    // Parsers and providers are loaded when they are needed, not at every start.
    splitting: true,
    format: "esm",
    bytecode: true,
    minify: true,
    sourcemap: "linked",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const { size } = Bun.file(outfile);
  process.stdout.write(
    `${outfile}  ${(size / 1024 / 1024).toFixed(1)} MiB${result.logs.length > 0 ? `\n${result.logs.join("\n")}` : ""}\n`,
  );
}

function requested(argv: readonly string[]): readonly (Target | null)[] {
  if (argv.length === 0) return [null];
  if (argv.length === 1 && argv[0] === "--all") return targets;
  const named = argv.map((word) => ({ word, target: targets.find((name) => word === `--target=${name}`) }));
  const wrong = named.find(({ target }) => target === undefined);
  if (wrong) {
    process.stderr.write(`${wrong.word} is not a target. Use --all or --target=NAME, with NAME one of ${targets.join(", ")}.\n`);
    process.exit(2);
  }
  return named.flatMap(({ target }) => target ?? []);
}
