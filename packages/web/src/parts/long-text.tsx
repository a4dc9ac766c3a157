import type { ReactNode } from 'react'
import { useMemo, useState } from 'react'
import { cutText } from '../state/cut-text.ts'

/** The part of a text that is shown at first. */
const FIRST = { lines: 50, characters: 4_000 }
/** The part that each press adds. */
const MORE = { lines: 500, characters: 40_000 }

/** A text of a tool, server or program, shown by pages. */
export function LongText({ text }: { readonly text: string }): ReactNode {
  const [pages, setPages] = useState(0)
  const { shown, left } = useMemo(
    () =>
      cutText(text, {
        lines: FIRST.lines + pages * MORE.lines,
        characters: FIRST.characters + pages * MORE.characters,
      }),
    [text, pages],
  )
  return (
    <>
      <pre tabIndex={0}>{shown}</pre>
      {left !== '' && (
        <button type="button" onClick={() => setPages(pages + 1)}>
          Show more ({left})
        </button>
      )}
    </>
  )
}
