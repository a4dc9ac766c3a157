import type { ReactNode } from 'react'
import { useState } from 'react'

const SHOWN_MS = 1_500

/** Puts a text into the clipboard. */
export function CopyButton(props: { readonly text: string; readonly label?: string }): ReactNode {
  const { text, label = 'Copy' } = props
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
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {said ?? label}
    </button>
  )
}
