/** A style sheet that travels inside the binary as text: `import style from "./x.css" with { type: "text" }`. */
declare module "*.css" {
  const style: string;
  export default style;
}
