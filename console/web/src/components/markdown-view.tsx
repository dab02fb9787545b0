/**
 * Makes elements of tokens. HTML is text, links are `https:` and `mailto:` only, and pictures of other hosts are links:
 * loading them would tell their host who reads the file.
 */
import type { MarkedToken, Token } from 'marked'
import { createContext, createElement, Fragment, type ReactNode, useContext, useEffect, useState } from 'react'
import { visible } from '../visible.ts'
import styles from './markdown.module.css'
import { toTokens } from './markdown-tokens.ts'
import { Skeleton } from './note.tsx'

export interface MarkdownProps {
  readonly text: string
  /** A link to another file, by its path as the text has it; undefined if there is none. */
  readonly linkTo?: (path: string, children: ReactNode) => ReactNode
}

const LinkTo = createContext<MarkdownProps['linkTo']>(undefined)

export default function MarkdownView({ text, linkTo }: MarkdownProps) {
  const [parsed, setParsed] = useState<{ readonly text: string; readonly tokens?: readonly Token[] }>()
  useEffect(() => {
    const replaced = new AbortController()
    toTokens(text, replaced.signal)
      .then((tokens) => setParsed({ text, tokens }))
      .catch(() => replaced.signal.aborted || setParsed({ text }))
    return () => replaced.abort()
  }, [text])
  if (parsed?.text !== text) return <Skeleton />
  return (
    <LinkTo value={linkTo}>
      <div className={styles.markdown}>
        {parsed.tokens ? (
          <Tokens tokens={parsed.tokens} />
        ) : (
          <pre>
            <Plain text={text} />
          </pre>
        )}
      </div>
    </LinkTo>
  )
}

const MAX_DEPTH = 30

interface TokensProps {
  readonly tokens: readonly Token[] | undefined
  readonly depth?: number
}

function Tokens({ tokens = [], depth = 0 }: TokensProps) {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their place.
    <Fragment key={index}>
      {depth > MAX_DEPTH ? <Plain text={token.raw} /> : elementOf(token as MarkedToken, depth + 1)}
    </Fragment>
  ))
}

function elementOf(token: MarkedToken, depth: number): ReactNode {
  switch (token.type) {
    case 'heading':
      // The page has a heading of the first level already.
      return createElement(`h${Math.min(token.depth + 1, 6)}`, null, <Tokens tokens={token.tokens} depth={depth} />)
    case 'paragraph':
      return (
        <p>
          <Tokens tokens={token.tokens} depth={depth} />
        </p>
      )
    case 'blockquote':
      return (
        <blockquote>
          <Tokens tokens={token.tokens} depth={depth} />
        </blockquote>
      )
    case 'list': {
      const items = token.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their place.
        <li key={index} data-task={item.task}>
          <Tokens tokens={item.tokens} depth={depth} />
        </li>
      ))
      return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>
    }
    case 'checkbox':
      return <input type="checkbox" disabled checked={token.checked} aria-label={token.checked ? 'done' : 'not done'} />
    case 'table':
      return (
        <table>
          <thead>
            <tr>{token.header.map((cell, index) => cellOf('th', cell, index, depth))}</tr>
          </thead>
          <tbody>
            {token.rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
              <tr key={index}>{row.map((cell, column) => cellOf('td', cell, column, depth))}</tr>
            ))}
          </tbody>
        </table>
      )
    case 'code':
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      )
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'strong':
    case 'em':
    case 'del':
      return createElement(token.type, null, <Tokens tokens={token.tokens} depth={depth} />)
    case 'codespan':
      return <code>{token.text}</code>
    case 'link':
      return (
        <Reference href={token.href}>
          <Tokens tokens={token.tokens} depth={depth} />
        </Reference>
      )
    case 'image':
      return <Picture href={token.href} text={token.text} />
    case 'text':
      return token.tokens ? <Tokens tokens={token.tokens} depth={depth} /> : <Plain text={decodeEntities(token.text)} />
    case 'escape':
      return <Plain text={token.text} />
    case 'space':
    case 'def':
      return null
    default:
      // HTML, too.
      return <Plain text={token.raw} />
  }
}

interface Cell {
  readonly tokens: readonly Token[]
  readonly align: 'center' | 'left' | 'right' | null
}

function cellOf(name: 'td' | 'th', { tokens, align }: Cell, key: number, depth: number): ReactNode {
  return createElement(name, { key, 'data-align': align }, <Tokens tokens={tokens} depth={depth} />)
}

function Plain({ text }: { readonly text: string }) {
  return visible(text)
}

const PROTOCOLS = ['https:', 'mailto:']

/** What a link of the text may lead to. */
function targetOf(href: string): URL | undefined {
  const url = URL.parse(decodeEntities(href).trim())
  return url && PROTOCOLS.includes(url.protocol) ? url : undefined
}

function Reference({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const linkTo = useContext(LinkTo)
  const url = targetOf(href)
  if (url) {
    return (
      <a href={url.href} title={url.href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    )
  }
  const link = linkTo?.(decodeEntities(href), children)
  if (link) return link
  // A heading of the same text, or what is not followed.
  return href.startsWith('#') ? (
    children
  ) : (
    <>
      {children} <span className="quiet">({href})</span>
    </>
  )
}

function Picture({ href, text }: { readonly href: string; readonly text: string }) {
  const url = targetOf(href)
  const name = decodeEntities(text) || 'picture'
  return <Reference href={href}>{url?.host ? `${name} at ${url.host}` : name}</Reference>
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  copy: '©',
  gt: '>',
  hellip: '…',
  lt: '<',
  mdash: '—',
  nbsp: '\u00a0',
  ndash: '–',
  quot: '"',
  rarr: '→',
  times: '×',
}
const MAX_CODE_POINT = 0x10_ff_ff

/** Character references, which marked leaves to the browser. Of named ones, the usual. */
function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w+));/g, (reference, decimal, hex, name) => {
    if (name) return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : reference
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= MAX_CODE_POINT ? String.fromCodePoint(code) : reference
  })
}
