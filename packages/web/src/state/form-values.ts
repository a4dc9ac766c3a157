export type FieldValue = string | boolean | readonly string[]

/** Values of a form by the names of its fields. */
export type FormValues = ReadonlyMap<string, FieldValue>
