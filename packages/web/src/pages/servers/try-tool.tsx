import type { Tool, ToolAnswer } from '@mcp-host/client'
import { visibleText } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useMemo, useState } from 'react'
import { readFields, readValues } from '../../ask/fields.ts'
import type { FormValues } from '../../state/form-values.ts'
import { FormFields } from '../../ask/form-fields.tsx'
import { CopyButton } from '../../markdown/copy-button.tsx'
import { Mark } from '../../parts/icon.tsx'
import { callTool } from '../../state/call-tool.ts'
import { messageOf } from '../../state/message-of.ts'
import { parseObject } from '../../state/parse-object.ts'
import { pretty } from '../../state/pretty.ts'
import { toolHost } from '../../state/tool-host.ts'
import { textOfResult } from '../../thread/block-media.ts'
import { ToolContent } from '../../thread/tool-content.tsx'
import { Fault } from '../../parts/fault.tsx'

/** A call that waits for the permission of the user. */
interface PermissionRequest {
  readonly given: object
  readonly answer: (isAllowed: boolean) => void
}

/** A form that calls a tool as the user, and what the tool answered. */
export function TryTool({ tool }: { readonly tool: Tool }): ReactNode {
  const fields = useMemo(() => readFields(tool.inputSchema), [tool])
  const hasForm = isFlat(tool.inputSchema)
  const [values, setValues] = useState<FormValues>(new Map())
  const [json, setJson] = useState('{}')
  const [answer, setAnswer] = useState<ToolAnswer>()
  const [asked, setAsked] = useState<PermissionRequest>()
  const [fault, setFault] = useState<string>()
  const [isRunning, setIsRunning] = useState(false)
  // A call does not wait for a user who has left.
  useEffect(() => () => asked?.answer(false), [asked])
  const call = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault()
    setIsRunning(true)
    setFault(undefined)
    setAnswer(undefined)
    try {
      const given = hasForm ? readValues(fields, values) : parseObject(json, 'Arguments as JSON')
      const ask = (): Promise<boolean> =>
        new Promise((resolve) => setAsked({ given, answer: resolve }))
      const answered = await callTool(toolHost, { name: tool.name, given }, ask)
      if (answered === undefined) setFault('You did not allow the call')
      setAnswer(answered)
    } catch (error) {
      setFault(messageOf(error))
    } finally {
      setIsRunning(false)
    }
  }
  return (
    <>
      <form
        className="fields"
        aria-label={`Try ${tool.name}`}
        onSubmit={(event) => void call(event)}
      >
        {hasForm ? (
          <FormFields fields={fields} values={values} onChange={setValues} />
        ) : (
          <label className="field wide">
            Arguments as JSON
            <textarea value={json} rows={4} onChange={({ target }) => setJson(target.value)} />
          </label>
        )}
        <button type="submit" className="primary" disabled={isRunning}>
          {asked !== undefined ? 'Waiting for permission' : isRunning ? 'Running' : 'Try it'}
        </button>
      </form>
      {asked !== undefined && (
        <Permission
          tool={tool.name}
          given={asked.given}
          onAnswer={(isAllowed) => {
            setAsked(undefined)
            asked.answer(isAllowed)
          }}
        />
      )}
      <Fault fault={fault} />
      {answer !== undefined && (
        <section className="card" aria-label="Result of the trial">
          <header className="card-head">
            <Mark name={answer.isError === true ? 'failed' : 'ok'} />
            {answer.isError === true ? 'Failed' : 'Done'}
            <span className="end" />
            <CopyButton text={textOfResult(answer)} label="Copy the result" isIcon />
          </header>
          <div className="results">
            <ToolContent
              session=""
              result={{ ...answer, outcome: answer.isError === true ? 'error' : 'ok' }}
            />
          </div>
        </section>
      )}
    </>
  )
}

/** Whether each property is a string, number or boolean. Other arguments are written as JSON. */
function isFlat(schema: Readonly<Record<string, unknown>>): boolean {
  const properties = Object.values(schema['properties'] ?? {}) as { readonly type?: unknown }[]
  return properties.every(({ type }) =>
    ['string', 'number', 'integer', 'boolean'].includes(String(type)),
  )
}

function Permission(props: {
  readonly tool: string
  readonly given: object
  readonly onAnswer: (isAllowed: boolean) => void
}): ReactNode {
  const { tool, given, onAnswer } = props
  return (
    <section className="asks" aria-label={`Permission for ${tool}`}>
      <header className="asks-head">
        <Mark name="waits" />
        <h3>Allow {tool}?</h3>
      </header>
      <pre tabIndex={0}>{visibleText(pretty(given))}</pre>
      <div className="asks-foot">
        <button type="button" className="move" onClick={() => onAnswer(true)}>
          Allow
        </button>
        <button type="button" onClick={() => onAnswer(false)}>
          Do not allow
        </button>
      </div>
    </section>
  )
}
