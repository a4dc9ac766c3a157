import type { ReactNode } from 'react'
import { useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { IconButton } from './icon.tsx'

export interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Focuses the page if the opener of the dialog is hidden, for instance in the closed sidebar of a phone. */
function focusPage(dialog: HTMLDialogElement | null): void {
  const { activeElement, body } = document
  const isLost = activeElement === body || dialog?.contains(activeElement) === true
  if (isLost) document.querySelector<HTMLElement>('main')?.focus()
}

/** A panel before the page, as long as it is drawn. Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before the element is gone, so that it gives the focus back.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    element?.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)')?.focus()
    return () => {
      element?.close()
      focusPage(element)
    }
  }, [])
  // Outside of other elements: a form may not be within a form.
  return createPortal(
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <header className="dialog-head">
        <h2>{title}</h2>
        <span className="end" />
        <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
      </header>
      <div className="dialog-body">{children}</div>
    </dialog>,
    document.body,
  )
}
