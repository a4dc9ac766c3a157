import type { Session, Share } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useCallback, useEffect, useState } from 'react'
import { CopyButton } from '../markdown/copy-button.tsx'
import { host, HOST_URL } from '../state/host.ts'
import { messageOf } from '../state/message-of.ts'
import { dayOf } from '../state/time-text.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'

const DEFAULT_DAYS = 30

export interface ShareDialogProps {
  readonly session: Pick<Session, 'id' | 'title'>
  readonly onClose: () => void
}

/** Links by which anybody reads a session. */
export function ShareDialog({ session: { id, title }, onClose }: ShareDialogProps): ReactNode {
  const [shares, setShares] = useState<readonly Share[]>()
  const [days, setDays] = useState(String(DEFAULT_DAYS))
  const [link, setLink] = useState<string>()
  const [fault, setFault] = useState<string>()
  const attempt = useCallback(
    async (change?: () => Promise<void>): Promise<void> => {
      try {
        setFault(undefined)
        await change?.()
        setShares(await host.shares(id))
      } catch (error) {
        setFault(messageOf(error))
      }
    },
    [id],
  )
  useEffect(() => void attempt(), [attempt])
  const create = async (): Promise<void> => {
    const { url } = await host.share(id, Number(days))
    // Opening the link does not send the secret: it is behind "#". The page sends it to this host alone.
    setLink(`${HOST_URL}/#/shared/${url.split('/').at(-1) ?? ''}`)
  }
  return (
    <Dialog title={`Share ${title}`} onClose={onClose}>
      <p className="note">
        Anybody with a link reads this chat and its files, also later messages, until the link ends.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void attempt(create)
        }}
      >
        <label className="field">
          Days until the link ends
          <input
            type="number"
            min={1}
            max={365}
            required
            value={days}
            onChange={({ target }) => setDays(target.value)}
          />
        </label>
        <div className="actions">
          <button type="submit" className="primary">
            Create a link
          </button>
        </div>
      </form>
      {link !== undefined && <NewLink link={link} />}
      <Fault fault={fault} />
      <ShareList
        shares={shares}
        onRevoke={(share) => void attempt(() => host.revokeShare(id, share))}
      />
    </Dialog>
  )
}

function NewLink({ link }: { readonly link: string }): ReactNode {
  return (
    <div className="field" role="status">
      <label htmlFor="new-link">The new link, which is shown this once</label>
      <input id="new-link" readOnly value={link} />
      <CopyButton text={link} label="Copy link" />
    </div>
  )
}

function ShareList(props: {
  readonly shares: readonly Share[] | undefined
  readonly onRevoke: (share: string) => void
}): ReactNode {
  const { shares, onRevoke } = props
  if (shares === undefined) return null
  if (shares.length === 0) return <p className="note">This chat has no links.</p>
  return (
    <ul className="rows" aria-label="Links">
      {shares.map(({ id, createdAt, expiresAt }) => (
        <li key={id}>
          <span>
            Made on {dayOf(createdAt)}, ends on {dayOf(expiresAt)}
          </span>
          <button type="button" onClick={() => onRevoke(id)}>
            Revoke
          </button>
        </li>
      ))}
    </ul>
  )
}
