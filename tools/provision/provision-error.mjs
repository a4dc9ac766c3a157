/** Something is missing and could not be provided. The message says what the user can do, so no stack is shown. */
export class ProvisionError extends Error {
  name = 'ProvisionError'
}
