import type { Explanation } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { TableHead } from '../../parts/table-head.tsx'

/** The rules of the policy in words, with their lines and how each relates to the call. */
export function RuleList({ answer }: { readonly answer: Explanation }): ReactNode {
  const { rules, file } = answer
  return (
    <table>
      <TableHead
        columns={[
          'Rule',
          'Says',
          'For this call',
          ...(file === undefined ? [] : [`Line in ${file}`]),
        ]}
      />
      <tbody>
        {rules.map(({ rule, text, line, verdict, mismatch }, index) => (
          // Two rules may have one name; their order never changes.
          <tr key={index} className={verdict === 'decides' ? 'hit' : undefined}>
            <th scope="row">{rule}</th>
            <td>
              <code>{text}</code>
            </td>
            <td className="muted">
              {verdict}
              {mismatch !== undefined && `: ${mismatch}`}
            </td>
            {file !== undefined && <td className="num">{line}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
