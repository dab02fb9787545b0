/**
 * Marks what only the OpenAPI document says, in prose or by example. In the Worker, which never makes the document, a
 * stand-in takes its place (package.json, imports), and the words stay out of the bundle.
 */
export function words<Words>(value: Words): Words {
  return value
}
