import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'

/** A formula as MathML; its source until the renderer is loaded, and where it is faulty. */
export function TexMath(props: { readonly tex: string; readonly isBlock: boolean }): ReactNode {
  const { tex, isBlock } = props
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    let isCurrent = true
    place.current?.replaceChildren(tex)
    const draw = async (): Promise<void> => {
      const { default: temml } = await import('temml')
      const draft = document.createElement('span')
      temml.render(tex, draft, {
        displayMode: isBlock,
        trust: false,
        throwOnError: true,
        maxExpand: 100,
      })
      if (isCurrent) place.current?.replaceChildren(...draft.childNodes)
    }
    draw().catch(() => isCurrent && place.current?.replaceChildren(tex))
    return () => {
      isCurrent = false
    }
  }, [tex, isBlock])
  // Its content is drawn by hand, so that React must not touch it.
  return <span ref={place} className={isBlock ? 'math block' : 'math'} data-tex={tex} />
}
