/** The value of a record's own property; `record[name]` would also find inherited ones such as `constructor`. */
export function ownValue<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  // oxlint-disable-next-line outside-names/no-lookup -- the property is its own
  return Object.hasOwn(record, name) ? record[name] : undefined
}
