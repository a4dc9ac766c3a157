import type { ReactNode } from 'react'
import type { Draft } from '../state/draft.ts'
import { useStore } from '../state/store.ts'

/** The files of the next message. */
export function FileList({ draft }: { readonly draft: Draft }): ReactNode {
  const files = useStore(draft.files)
  if (files.length === 0) return null
  return (
    <ul className="files" aria-label="Files of this message">
      {files.map(({ id, file: { name }, preview, stored, fault }) => (
        <li key={id}>
          {preview !== undefined && <img src={preview} alt="" />}
          <span>{name}</span>
          {fault !== undefined && <span className="bad">{fault}</span>}
          {fault === undefined && stored === undefined && <span className="pulse">Storing</span>}
          <button
            type="button"
            className="quiet"
            aria-label={`Remove ${name}`}
            onClick={() => draft.removeFile(id)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}
