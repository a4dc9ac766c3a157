import type { Approval } from '@mcp-host/client'
import { visibleText } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { Fault } from '../../parts/fault.tsx'
import { ToolId } from '../../parts/tool-id.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { admin } from '../../state/admin.ts'
import { login } from '../../state/login.ts'
import { pretty } from '../../state/pretty.ts'
import { useStore } from '../../state/store.ts'
import { timeOf } from '../../state/time-text.ts'
import { useLoaded } from '../../state/use-loaded.ts'
import { usePoll } from '../../state/use-poll.ts'
import { readWaitingCalls } from '../../state/waiting-calls.ts'

const LOOK_MS = 3_000

/** Tool calls of programs that wait for a decision. Those of chats are asked there. */
export function ApprovalsPage(): ReactNode {
  const { value: waiting, fault, act, reload } = useLoaded(readWaitingCalls)
  const known = useStore(login)
  const own = 'principal' in known ? known.principal.id : ''
  usePoll(reload, LOOK_MS)
  return (
    <PageFrame page="approvals" title="Approvals">
      <Fault fault={fault} />
      {waiting?.length === 0 && (
        <p className="note">
          No call waits for a decision. Calls of programs that cannot ask their user are listed
          here; chats ask in the chat.
        </p>
      )}
      <ul className="rows" aria-label="Calls that wait">
        {waiting?.map((call) => (
          <Waiting
            key={call.id}
            call={call}
            isOwn={call.principal === own}
            onAnswer={(action) => void act(() => admin.answerApproval(call.id, action))}
          />
        ))}
      </ul>
    </PageFrame>
  )
}

function Waiting(props: {
  readonly call: Approval
  readonly isOwn: boolean
  readonly onAnswer: (action: 'accept' | 'decline') => void
}): ReactNode {
  const { call, isOwn, onAnswer } = props
  const name = `${call.server}.${call.tool}`
  return (
    <li>
      <div>
        <ToolId server={call.server} tool={call.tool} />
        <p className="note">
          {isOwn ? 'for you' : `for ${call.principal}`}, since {timeOf(call.createdAt)}; it ends at{' '}
          {timeOf(call.expiresAt)}
        </p>
        <pre tabIndex={0} aria-label={`Arguments of ${name}`}>
          {visibleText(pretty(call.arguments))}
        </pre>
      </div>
      <div className="actions">
        <button
          type="button"
          className="move"
          aria-label={`Allow ${name}`}
          onClick={() => onAnswer('accept')}
        >
          Allow
        </button>
        <button
          type="button"
          aria-label={`Do not allow ${name}`}
          onClick={() => onAnswer('decline')}
        >
          Do not allow
        </button>
      </div>
    </li>
  )
}
