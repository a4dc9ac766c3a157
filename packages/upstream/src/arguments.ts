export { argumentForms } from './arguments/argument-forms.ts'
export { sentArguments } from './arguments/sent-arguments.ts'
