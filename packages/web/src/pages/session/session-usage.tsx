import type { SessionWithDetails } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { TableHead } from '../../parts/table-head.tsx'
import { costText } from '../../state/cost-text.ts'

/** What the answers of a session have used, by model, and their tool calls. */
export function SessionUsage({
  session,
}: {
  readonly session: Pick<SessionWithDetails, 'usage' | 'toolCallCount' | 'limits'>
}): ReactNode {
  const { usage, toolCallCount = 0, limits } = session
  if (usage.length === 0) return null
  const total = limits?.maxSessionToolCalls === undefined ? '' : ` of ${limits.maxSessionToolCalls}`
  return (
    <>
      <table className="usage">
        <caption>Used so far</caption>
        <TableHead columns={['Model', 'Tokens in', 'Tokens out', 'Cost']} />
        <tbody>
          {usage.map(({ provider, model, inputTokens, outputTokens, cost, isEstimate }) => (
            <tr key={`${provider}/${model}`}>
              <th scope="row">
                {provider}/{model}
              </th>
              <td>
                {isEstimate === true && 'about '}
                {inputTokens ?? 'unknown'}
              </td>
              <td>{outputTokens ?? 'unknown'}</td>
              <td>{cost === undefined ? 'unknown' : costText(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="note">
        Tool calls so far: {toolCallCount}
        {total}
      </p>
    </>
  )
}
