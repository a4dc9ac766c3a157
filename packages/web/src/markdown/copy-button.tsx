import type { ReactNode } from 'react'
import { useState } from 'react'
import { Icon, Mark } from '../parts/icon.tsx'

const SHOWN_MS = 1_500

export interface CopyButtonProps {
  readonly text: string
  readonly label?: string
  /** Whether the label is only for screen readers and a tooltip. */
  readonly isIcon?: boolean
}

/** Puts a text into the clipboard. */
export function CopyButton({ text, label = 'Copy', isIcon = false }: CopyButtonProps): ReactNode {
  const [said, setSaid] = useState<string>()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      // Browsers allow it on secure pages only.
      setSaid('Not allowed here')
    }
    setTimeout(() => setSaid(undefined), SHOWN_MS)
  }
  const name = said ?? label
  if (!isIcon) {
    return (
      <button type="button" onClick={() => void copy()}>
        {name}
      </button>
    )
  }
  return (
    <>
      <button
        type="button"
        className="icon-button tight"
        aria-label={name}
        title={name}
        onClick={() => void copy()}
      >
        {said === undefined ? (
          <Icon name="copy" />
        ) : (
          <Mark name={said === 'Copied' ? 'ok' : 'off'} />
        )}
      </button>
      <span role="status" className="hidden">
        {said}
      </span>
    </>
  )
}
