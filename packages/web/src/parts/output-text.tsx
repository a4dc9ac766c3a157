import type { ReactNode } from 'react'
import { useMemo } from 'react'
import { readJson } from '../state/read-json.ts'
import { JsonView } from './json-view.tsx'
import { LongText } from './long-text.tsx'

/** Output of a tool: JSON by its parts, other texts as they are. */
export function OutputText({ text }: { readonly text: string }): ReactNode {
  const value = useMemo(() => readJson(text), [text])
  return value === undefined ? <LongText text={text} /> : <JsonView value={value} text={text} />
}
