/**
 * React's, so that people see every character of each text that a page draws (visible.ts). Names, messages and texts of
 * errors come from people, agents and other services; no page has to remember it. What people edit stays as it is.
 */
import type { ElementType, Key, ReactElement } from 'react'
import { Fragment, type JSX, jsx as reactJsx, jsxs as reactJsxs } from 'react/jsx-runtime'
import { visible } from './visible.ts'

export { Fragment, type JSX }

type Props = Readonly<Record<string, unknown>>

const READ_ATTRIBUTES = ['alt', 'aria-description', 'aria-label', 'label', 'placeholder', 'title'] as const

export function jsx(type: ElementType, props: Props, key?: Key): ReactElement {
  return reactJsx(type, drawn(type, props), key)
}

export function jsxs(type: ElementType, props: Props, key?: Key): ReactElement {
  return reactJsxs(type, drawn(type, props), key)
}

/**
 * A component of ours may need its texts unchanged, such as to copy them. It has to draw them by elements: what it returns
 * as a bare text does not come by here.
 */
function drawn(type: ElementType, props: Props): Props {
  if (typeof type === 'function') return props
  const changed: Record<string, unknown> = {}
  const children = seen(props.children)
  if (children !== props.children) changed.children = children
  for (const name of READ_ATTRIBUTES) {
    const text = seen(props[name])
    if (text !== props[name]) changed[name] = text
  }
  return Object.keys(changed).length === 0 ? props : { ...props, ...changed }
}

/** @returns the same object, if there is nothing to change. */
function seen(node: unknown): unknown {
  if (typeof node === 'string') return visible(node)
  if (!Array.isArray(node)) return node
  const nodes = node.map(seen)
  return nodes.every((each, index) => each === node[index]) ? node : nodes
}
