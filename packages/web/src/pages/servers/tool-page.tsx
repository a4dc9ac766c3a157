import type { Tool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { TableHead } from '../../parts/table-head.tsx'
import { argumentRows } from '../../state/argument-rows.ts'
import { pretty } from '../../state/pretty.ts'
import { effectOf } from '../../state/tool-effect.ts'
import { TryTool } from './try-tool.tsx'

export interface ToolPageProps {
  readonly tool: Tool
  /** Of its server, before its own name. */
  readonly prefix: string
}

/** Annotations are what the server says of itself. */
const EFFECTS = {
  reads: 'Its server says that it only reads.',
  writes: 'Its server says that it writes, and destroys nothing.',
  destroys: 'By what its server says it may change or delete what is there.',
} as const

/** A tool: what it does, its arguments, and a form that calls it. */
export function ToolPage({ tool, prefix }: ToolPageProps): ReactNode {
  const rows = argumentRows(tool.inputSchema)
  const name = tool.name.slice(prefix.length)
  const effect = effectOf(tool)
  return (
    <section aria-label={name}>
      <header>
        <h2>{name}</h2>
        <p className="note">{tool.description}</p>
        {effect !== undefined && <p className="note">{EFFECTS[effect]}</p>}
      </header>
      {rows.length > 0 && (
        <div className="table" tabIndex={0} role="group" aria-label={`Arguments of ${name}`}>
          <table>
            <TableHead columns={['Argument', 'Type', 'Required', 'Description']} />
            <tbody>
              {rows.map((row) => (
                <tr key={row.name}>
                  <th scope="row" className="mono">
                    {row.name}
                  </th>
                  <td className="note">{row.type}</td>
                  <td className="note">{row.isRequired ? 'required' : ''}</td>
                  <td>{row.description}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <h3>Try it</h3>
      <TryTool tool={tool} />
      <details>
        <summary>Schema</summary>
        <pre tabIndex={0}>{pretty(tool.inputSchema)}</pre>
      </details>
    </section>
  )
}
