/** Control characters, line breaks of any kind, and the characters that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** Text in one line, without characters that change a terminal or the order in which a line is read. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\ufffd')
}

/** The same for text that may have several lines and tabs. */
export function printableLines(text: string): string {
  return text.replaceAll(UNPRINTABLE, (each) => (each === '\n' || each === '\t' ? each : '\ufffd'))
}

/** JSON that has the same value and prints no such character. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    UNPRINTABLE,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
