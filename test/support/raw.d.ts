/** The text of a file, by Vite. */
declare module '*?raw' {
  const text: string
  export default text
}
