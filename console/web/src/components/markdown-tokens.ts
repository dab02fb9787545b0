/** Markdown of agents as tokens of marked, in bounded time: some short texts would keep it busy for minutes. */
import { Lexer, type Token, Tokenizer, type Tokens } from 'marked'

/** Longer texts are shown as they are. */
export const MAX_MARKDOWN_LENGTH = 100_000
/** Time grows with the square of the length. A longer paragraph is shown without its emphasis and links. */
const MAX_INLINE_LENGTH = 3000
const MAX_DEPTH = 12
/** A short line adds a cell for each column of its table. */
const MAX_CELLS = 5000
const SLICE_MS = 30
const BUDGET_MS = 3000

/** Quotes, lists and tables that are too deep or too large are paragraphs. */
class BoundedTokenizer extends Tokenizer {
  #depth = 0

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.#nested(() => super.blockquote(src))
  }

  override list(src: string): Tokens.List | undefined {
    return this.#nested(() => super.list(src))
  }

  override table(src: string): Tokens.Table | undefined {
    const [head = '', delimiters = ''] = src.split('\n', 2)
    if (!/^[\s|:-]+$/.test(delimiters)) return undefined
    const rows = src.slice(0, Math.max(0, src.search(/\n[ \t]*\n/)) || undefined).split('\n').length
    return head.split('|').length * rows > MAX_CELLS ? undefined : super.table(src)
  }

  #nested<Found>(find: () => Found | undefined): Found | undefined {
    if (this.#depth >= MAX_DEPTH) return undefined
    this.#depth += 1
    try {
      return find()
    } finally {
      this.#depth -= 1
    }
  }
}

/**
 * Lets the page do other things in between.
 * @throws if the text is too complex.
 */
export async function toTokens(markdown: string, signal: AbortSignal): Promise<readonly Token[]> {
  if (markdown.length > MAX_MARKDOWN_LENGTH) throw new Error('The text is too long.')
  const lexer = new Lexer({ gfm: true, tokenizer: new BoundedTokenizer() })
  lexer.blockTokens(markdown.replaceAll(/\r\n?/g, '\n'), lexer.tokens)
  let spentMs = 0
  let sliceStart = performance.now()
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length > MAX_INLINE_LENGTH || spentMs > BUDGET_MS) tokens.push({ type: 'text', raw: src, text: src })
    else lexer.inlineTokens(src, tokens)
    const sliceMs = performance.now() - sliceStart
    if (sliceMs < SLICE_MS) continue
    spentMs += sliceMs
    await new Promise((resolve) => setTimeout(resolve))
    signal.throwIfAborted()
    sliceStart = performance.now()
  }
  return lexer.tokens
}
