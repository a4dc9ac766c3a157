import type { Limit } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useCallback, useState } from 'react'
import { Fault } from '../../parts/fault.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { TableHead } from '../../parts/table-head.tsx'
import { admin } from '../../state/admin.ts'
import { limitText } from '../../state/limit-text.ts'
import { useLoaded } from '../../state/use-loaded.ts'

/** The limits for clients, and what a principal has used of them. */
export function LimitsPage(): ReactNode {
  return (
    <PageFrame page="limits" title="Limits">
      <Limits />
    </PageFrame>
  )
}

function Limits(): ReactNode {
  const [text, setText] = useState('')
  const [principal, setPrincipal] = useState<string>()
  const read = useCallback(() => admin.limits(principal), [principal])
  const { value: limits, fault, reload } = useLoaded(read)
  const look = (event: React.FormEvent): void => {
    event.preventDefault()
    const wanted = text.trim() === '' ? undefined : text.trim()
    // The same principal is looked at again.
    if (wanted === principal) void reload()
    setPrincipal(wanted)
  }
  return (
    <>
      <form className="actions" aria-label="Principal" onSubmit={look}>
        <label className="actions">
          Used by
          <input placeholder="you" value={text} onChange={({ target }) => setText(target.value)} />
        </label>
        <button type="submit">Look</button>
      </form>
      <Fault fault={fault} />
      {limits !== undefined && (
        <table>
          <TableHead columns={['Limit', 'Setting']} numbers={['Used']} />
          <tbody>
            {limits.map((limit) => (
              <tr key={limit.setting}>
                <th scope="row">{limitText(limit)}</th>
                <td>
                  <code>{limit.setting}</code>
                </td>
                <td className={isUsedUp(limit) ? 'number bad' : 'number'}>
                  {limit.used?.toLocaleString('en') ?? '–'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="note">
        Limits are set for the gateways, as LIMIT_REQUESTS=100/s. LIMIT_TURNS and the limits of
        rules of the policy are not listed here.
      </p>
    </>
  )
}

function isUsedUp({ permits, used = 0 }: Limit): boolean {
  return permits !== undefined && used >= permits
}
