import type { ReactNode } from 'react'
import { useId } from 'react'
import type { FieldValue, FormValues } from '../state/form-values.ts'
import type { Field } from './fields.ts'

export interface FormFieldsProps {
  readonly fields: readonly Field[]
  readonly values: FormValues
  readonly onChange: (values: FormValues) => void
}

/** The inputs of a form, each with its label and hint. */
export function FormFields({ fields, values, onChange }: FormFieldsProps): ReactNode {
  return fields.map((field) => (
    <FieldRow
      key={field.name}
      field={field}
      value={values.get(field.name) ?? field.initial}
      onChange={(value) => onChange(new Map(values).set(field.name, value))}
    />
  ))
}

interface FieldProps {
  readonly field: Field
  readonly value: FieldValue
  readonly onChange: (value: FieldValue) => void
}

function FieldRow({ field, value, onChange }: FieldProps): ReactNode {
  const id = useId()
  const hintId = field.hint === undefined ? undefined : `${id}-hint`
  const isBox = field.kind === 'boolean'
  const label = (
    <label htmlFor={id}>
      {field.label}
      {!field.isRequired && !isBox && <small> (may stay empty)</small>}
    </label>
  )
  const input = <Input field={field} value={value} onChange={onChange} id={id} hintId={hintId} />
  return (
    <div className="field">
      {isBox ? (
        <span>
          {input} {label}
        </span>
      ) : (
        <>
          {label}
          {input}
        </>
      )}
      {field.hint !== undefined && <small id={hintId}>{field.hint}</small>}
    </div>
  )
}

type InputProps = FieldProps & { readonly id: string; readonly hintId: string | undefined }

function Input({ field, value, onChange, id, hintId }: InputProps): ReactNode {
  const common = { id, 'aria-describedby': hintId, name: field.name }
  if (field.kind === 'boolean') {
    return (
      <input
        {...common}
        type="checkbox"
        checked={value === true}
        onChange={({ target }) => onChange(target.checked)}
      />
    )
  }
  if (field.kind === 'choice' || field.kind === 'choices') {
    const isMultiple = field.kind === 'choices'
    return (
      <select
        {...common}
        required={field.isRequired}
        multiple={isMultiple}
        value={isMultiple ? [...(value as readonly string[])] : String(value)}
        onChange={({ target }) =>
          onChange(
            isMultiple ? Array.from(target.selectedOptions, (each) => each.value) : target.value,
          )
        }
      >
        {!isMultiple && <option value="">Choose</option>}
        {field.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    )
  }
  return (
    <input
      {...common}
      step={field.kind === 'number' ? 'any' : undefined}
      {...field.limits}
      type={field.input}
      required={field.isRequired}
      value={String(value)}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}
