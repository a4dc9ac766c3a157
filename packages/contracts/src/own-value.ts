/** The value of an own property of a record: `record[name]` also finds `constructor` and `__proto__` of every record. */
export function ownValue<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  // oxlint-disable-next-line outside-names/no-lookup -- the property is its own
  return Object.hasOwn(record, name) ? record[name] : undefined
}
