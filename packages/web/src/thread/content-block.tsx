import type { ReactNode } from 'react'
import { useContext, useState } from 'react'
import { safeLink } from '../markdown/links.ts'
import { FileUrls } from '../state/file-urls.ts'
import { objectOf } from '../state/object-of.ts'
import type { Block, BlockMedia } from './block-media.ts'
import { mediaOf, textOf } from './block-media.ts'
import { JsonView } from '../parts/json-view.tsx'
import { OutputText } from '../parts/output-text.tsx'

/** A longer address is cut. */
const MAX_SHOWN_URI = 300

export interface ContentBlockProps {
  readonly block: Block
  /** Id of the session. */
  readonly session: string
}

/** A content block of MCP. Types that are not known are shown as JSON. */
export function ContentBlock({ block, session }: ContentBlockProps): ReactNode {
  const fileUrl = useContext(FileUrls)
  const media = mediaOf(block, (key) => fileUrl(session, key))
  if (media !== undefined) return <Media {...media} />
  if (block['type'] === 'text') return <OutputText text={String(block['text'])} />
  if (block['type'] === 'resource_link') return <ResourceLink link={block} />
  const { text, uri } = objectOf(block['resource'])
  if (block['type'] !== 'resource' || typeof text !== 'string') return <JsonView value={block} />
  return (
    <>
      <p className="note">{textOf(uri)}</p>
      <OutputText text={text} />
    </>
  )
}

function Media({ kind, url, name, mimeType }: BlockMedia): ReactNode {
  const [isBroken, setIsBroken] = useState(false)
  if (isBroken) return <p className="note">A picture of the tool cannot be shown ({mimeType}).</p>
  if (kind === 'picture') {
    const onError = (): void => setIsBroken(true)
    return <img src={url} alt="Result of the tool" loading="lazy" onError={onError} />
  }
  return (
    <>
      {kind === 'sound' && <audio controls src={url} aria-label="Result of the tool" />}
      <p>
        <a href={url} download={name}>
          Download {name}
        </a>{' '}
        <small>{mimeType}</small>
      </p>
    </>
  )
}

/** The address is a link where a browser can open it. */
function ResourceLink({ link }: { readonly link: Block }): ReactNode {
  const uri = textOf(link['uri'])
  const href = safeLink(uri)
  const description = textOf(link['description'])
  const name = textOf(link['title']) || textOf(link['name']) || uri
  return (
    <p>
      {href === undefined ? (
        name
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {name}
        </a>
      )}
      {name !== uri && <br />}
      {name !== uri && <small>{(href ?? uri).slice(0, MAX_SHOWN_URI)}</small>}
      {description !== '' && <br />}
      {description}
    </p>
  )
}
