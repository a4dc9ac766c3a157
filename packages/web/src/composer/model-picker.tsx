import type { ReactNode } from 'react'
import { models } from '../state/models.ts'
import { useStore } from '../state/store.ts'

export interface ModelPickerProps {
  readonly value: string | undefined
  readonly onChange: (model: string | undefined) => void
  /** What it is for, for screen readers. */
  readonly label?: string
}

/** A choice of the models of the host. */
export function ModelPicker({ value, onChange, label = 'Model' }: ModelPickerProps): ReactNode {
  const known = useStore(models)
  const preset = known?.default
  return (
    <label className="model">
      <span className="hidden">{label}</span>
      <select
        title={value ?? (preset && `${preset.provider}/${preset.model}`)}
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
      >
        {/* A closed list shows the model alone: more would be too long for a phone. */}
        <optgroup label="Default">
          <option value="">{preset?.model ?? 'No model yet'}</option>
        </optgroup>
        {known?.providers.map(({ provider, models: list }) => (
          <optgroup key={provider} label={provider}>
            {list.map(({ id }) => (
              <option key={id} value={`${provider}/${id}`}>
                {id}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  )
}
