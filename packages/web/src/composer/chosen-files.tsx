import type { ReactNode } from 'react'
import { Icon, IconButton, Mark } from '../parts/icon.tsx'
import type { Draft } from '../state/draft.ts'
import { useStore } from '../state/store.ts'

/** The files of the next message. */
export function ChosenFiles({ draft }: { readonly draft: Draft }): ReactNode {
  const files = useStore(draft.files)
  if (files.length === 0) return null
  return (
    <ul className="files" aria-label="Files of this message">
      {files.map(({ id, file: { name }, preview, stored, fault }) => (
        <li key={id}>
          {preview === undefined ? <Icon name="file" /> : <img src={preview} alt="" />}
          <span className="cut">{name}</span>
          {fault !== undefined && <span className="bad">{fault}</span>}
          {fault === undefined && stored === undefined && (
            <small>
              <Mark name="runs" /> Storing
            </small>
          )}
          <IconButton
            icon="close"
            label={`Remove ${name}`}
            isTight
            onClick={({ currentTarget, detail }) => {
              if (detail === 0) focusBeside(currentTarget)
              draft.removeFile(id)
            }}
          />
        </li>
      ))}
    </ul>
  )
}

/** Gives the focus to the next file, or to the message if there is none: the button goes away. */
function focusBeside(button: Element): void {
  const item = button.closest('li')
  const beside = item?.nextElementSibling ?? item?.previousElementSibling
  const next = beside?.querySelector('button') ?? button.closest('form')?.querySelector('textarea')
  next?.focus()
}
