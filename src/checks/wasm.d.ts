/** `import path from "….wasm" with { type: "file" }`: the path of the file, inside the compiled program as well. */
declare module "*.wasm" {
  const path: string;
  export default path;
}
