import type { ReactNode } from 'react'
import { useContext, useState } from 'react'
import { Icon } from '../parts/icon.tsx'
import { FileUrls } from '../state/file-urls.ts'
import type { Attachment } from '../state/turn.ts'

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/

export interface AttachmentListProps {
  readonly attachments: readonly Attachment[]
  /** Id of the session. */
  readonly session: string
}

/** The files of a message. */
export function AttachmentList({ attachments, session }: AttachmentListProps): ReactNode {
  const fileUrl = useContext(FileUrls)
  if (attachments.length === 0) return null
  return (
    <ul className="files">
      {attachments.map((file) => (
        <li key={file.blob.key}>
          <File file={file} url={fileUrl(session, file.blob.key)} />
        </li>
      ))}
    </ul>
  )
}

function File({ file, url }: { readonly file: Attachment; readonly url: string }): ReactNode {
  const name = file.name ?? 'file'
  const [isPicture, setIsPicture] = useState(PICTURE.test(file.mimeType))
  if (isPicture)
    return <img src={url} alt={name} loading="lazy" onError={() => setIsPicture(false)} />
  return (
    <>
      <Icon name="file" />
      <a className="cut" href={url} download={name}>
        {name}
      </a>
    </>
  )
}
