import type { Prompt } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useMemo, useState } from 'react'
import { readFields, readValues } from '../ask/fields.ts'
import type { FormValues } from '../state/form-values.ts'
import { FormFields } from '../ask/form-fields.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { splitWireName } from '../state/wire-name.ts'
import { messageOf } from '../state/message-of.ts'
import { promptText } from './choices.ts'
import { Fault } from '../parts/fault.tsx'

export interface PromptFormProps {
  readonly prompt: Prompt
  readonly onText: (text: string) => void
  readonly onClose: () => void
}

/** The arguments of a prompt. */
export function PromptForm({ prompt, onText, onClose }: PromptFormProps): ReactNode {
  const fields = useMemo(() => readFields(schemaOf(prompt)), [prompt])
  const [values, setValues] = useState<FormValues>(new Map())
  const [fault, setFault] = useState<string>()
  const fill = async (): Promise<void> => {
    try {
      const given = Object.entries(readValues(fields, values))
      const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
      onText(await promptText(prompt.name, texts))
    } catch (error) {
      setFault(messageOf(error))
    }
  }
  return (
    <Dialog title={titleOf(prompt)} onClose={onClose}>
      {prompt.description !== undefined && <p className="note">{prompt.description}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          // The form of the message is around it for React.
          event.stopPropagation()
          void fill()
        }}
      >
        <FormFields fields={fields} values={values} onChange={setValues} />
        <Fault fault={fault} />
        <div className="actions">
          <button type="submit" className="primary">
            Put into the message
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function titleOf({ title, name }: Prompt): string {
  const { server, own } = splitWireName(name)
  return title ?? (server === undefined ? own : `${own} of ${server}`)
}

function schemaOf({ arguments: given = [] }: Prompt): Readonly<Record<string, unknown>> {
  const properties = given.map(({ name, description }) => [name, { type: 'string', description }])
  const required = given.filter((each) => each.required === true).map(({ name }) => name)
  return { type: 'object', properties: Object.fromEntries(properties), required }
}
