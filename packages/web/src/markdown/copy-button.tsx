import type { ReactNode } from 'react'
import { useState } from 'react'
import { copyText } from '../parts/copy-text.ts'
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
  const copy = async ({ currentTarget }: React.MouseEvent<HTMLElement>): Promise<void> => {
    try {
      await copyText(text, currentTarget)
      setSaid('Copied')
    } catch {
      // The text stays in the page, where it can be selected.
      setSaid('Not allowed here')
    }
    setTimeout(() => setSaid(undefined), SHOWN_MS)
  }
  const name = said ?? label
  if (!isIcon) {
    return (
      <button type="button" onClick={(event) => void copy(event)}>
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
        onClick={(event) => void copy(event)}
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
