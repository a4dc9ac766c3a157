import { visibleText } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { pretty } from '../state/pretty.ts'
import { LongText } from './long-text.tsx'

/** A longer value scrolls. */
const MAX_SHOWN = 400

/** The arguments of a call as keys and values. */
export function ToolArguments({ given }: { readonly given: unknown }): ReactNode {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return <LongText text={visibleText(pretty(given))} />
  }
  const pairs = Object.entries(given)
  if (pairs.length === 0) return <p className="muted">none</p>
  return (
    <dl className="pairs">
      {pairs.map(([name, value]) => (
        <Pair key={name} name={visibleText(name)} text={visibleText(pretty(value))} />
      ))}
    </dl>
  )
}

function Pair({ name, text }: { readonly name: string; readonly text: string }): ReactNode {
  return (
    <>
      <dt>{name}</dt>
      <dd>{text.length <= MAX_SHOWN ? text : <LongText text={text} />}</dd>
    </>
  )
}
