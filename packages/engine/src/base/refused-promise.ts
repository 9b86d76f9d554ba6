/**
 * Promises where an answer is needed at once are refused by an error that says what to do. Called by whoever refuses one, or
 * puts it into such a message.
 */

/**
 * Takes the rejection of a promise that is refused: nobody waits for it, and Node.js would end the process before the error
 * that refuses it is seen. What is no promise is left alone.
 */
export function ignoreRejection(refused: unknown): void {
  if (refused instanceof Promise) refused.then(undefined, () => {});
}
