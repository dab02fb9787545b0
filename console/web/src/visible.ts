/** Text of agents, of which people see every character and which browsers draw in bounded time. */

/** A few joined to one letter are a language; thousands take seconds to draw. */
const MANY_MARKS = /(\p{M}{8})\p{M}+/gu

/** Without a picture of their own: direction of text, zero width, tags. Joiners belong to words and emoji. */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n\t\u200c\u200d]]/gv

/** Where Unicode has the pictures of the control characters, such as that of escape. */
const PICTURES = 0x24_00

/** @param text has line breaks and tabs, which stay. */
export function visible(text: string): string {
  return text.replaceAll(MANY_MARKS, '$1').replaceAll(UNSEEN, (each) => {
    const code = each.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(PICTURES + code) : '\ufffd'
  })
}
