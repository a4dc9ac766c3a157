import type { Tool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { pretty } from '../state/pretty.ts'
import { TryTool } from './try-tool.tsx'

/** A tool: what it does, its schema, and a form that calls it. `prefix`: of its server, before its own name. */
export function ToolRow({
  tool,
  prefix,
}: {
  readonly tool: Tool
  readonly prefix: string
}): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="tool" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <span className="tool-name">{tool.name.slice(prefix.length)}</span>
        <span className="tool-about">{tool.description}</span>
      </summary>
      {isOpen && (
        <>
          <TryTool tool={tool} />
          <details>
            <summary>Schema</summary>
            <pre tabIndex={0}>{pretty(tool.inputSchema)}</pre>
          </details>
        </>
      )}
    </details>
  )
}
