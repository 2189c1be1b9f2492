/** A text that travels inside the binary: `import text from "./x.txt" with { type: "text" }`. */
declare module "*.txt" {
  const text: string;
  export default text;
}
