import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'

/** Longer formulas, in characters, stay as they were written. */
const MAX_LENGTH = 2000
/** So do those with macros of chemistry or of their own, whose time grows with more than the length. */
const MAX_MACRO_LENGTH = 500

export function isDrawable(tex: string): boolean {
  const hasMacros = /\\(?:ce|pu|[egx]?def|let|(?:re)?newcommand|providecommand)(?![a-z])/i.test(tex)
  return tex.length <= (hasMacros ? MAX_MACRO_LENGTH : MAX_LENGTH)
}

/** A formula as MathML; its source until the renderer is loaded, and where it is faulty. */
export function TexMath(props: { readonly tex: string; readonly isBlock: boolean }): ReactNode {
  const { tex, isBlock } = props
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    let isCurrent = true
    place.current?.replaceChildren(tex)
    const draw = async (): Promise<void> => {
      const { default: temml } = await import('temml')
      // Many formulas are drawn in as many tasks, so that the page answers between them.
      await new Promise((resolve) => setTimeout(resolve))
      if (!isCurrent) return
      const draft = document.createElement('span')
      temml.render(tex, draft, {
        displayMode: isBlock,
        trust: false,
        throwOnError: true,
        maxExpand: 100,
      })
      if (isCurrent) place.current?.replaceChildren(...draft.childNodes)
    }
    if (isDrawable(tex)) draw().catch(() => isCurrent && place.current?.replaceChildren(tex))
    return () => {
      isCurrent = false
    }
  }, [tex, isBlock])
  // Its content is drawn by hand, so that React must not touch it.
  return <span ref={place} className={isBlock ? 'math block' : 'math'} data-tex={tex} />
}
