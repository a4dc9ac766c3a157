import type { Principal, Session } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useCallback } from 'react'
import { costText } from '../../state/cost-text.ts'
import { host } from '../../state/host.ts'
import { useLoaded } from '../../state/use-loaded.ts'
import { Fault } from '../../parts/fault.tsx'
import { TableHead } from '../../parts/table-head.tsx'
import { sumUsage } from './sum-usage.ts'

/** Pages of the list of sessions that are read at most. */
const MAX_PAGES = 20
const PAGE = 100

interface OwnSessions {
  readonly sessions: readonly Session[]
  readonly isAll: boolean
}

async function readOwn(owner: string): Promise<OwnSessions> {
  const all: Session[] = []
  let before: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const more = before === undefined ? {} : { before }
    const { sessions, next } = await host.sessions({ limit: PAGE, ...more })
    // Admins are listed the sessions of others, too.
    all.push(...sessions.filter((session) => session.owner === owner))
    if (next === undefined) return { sessions: all, isAll: true }
    before = next
  }
  return { sessions: all, isAll: false }
}

/** Tokens and cost of the user's chats that are not deleted, by model. */
export function UsageSection({ principal }: { readonly principal: Principal }): ReactNode {
  const { id } = principal
  const { value, fault } = useLoaded(useCallback(() => readOwn(id), [id]))
  const rows = sumUsage(value?.sessions ?? [])
  return (
    <section aria-label="Usage">
      <h2>Usage of your chats</h2>
      <Fault fault={fault} />
      {value !== undefined && rows.length === 0 && (
        <p className="note">Nothing was used yet. Begin a chat, and it is counted here.</p>
      )}
      {value !== undefined && rows.length > 0 && (
        <>
          <table>
            <TableHead columns={['Model']} numbers={['Read', 'Written', 'Cost']} />
            <tbody>
              {rows.map(({ model, inputTokens, outputTokens, cost }) => (
                <tr key={model}>
                  <th scope="row">{model}</th>
                  <td className="number">{inputTokens.toLocaleString('en')}</td>
                  <td className="number">{outputTokens.toLocaleString('en')}</td>
                  <td className="number">{cost === undefined ? '–' : costText(cost)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="note">
            Tokens of {value.isAll ? 'all' : 'the newest'} chats: {value.sessions.length}. Deleted
            ones are not counted.
          </p>
        </>
      )}
    </section>
  )
}
