/** In each folder the bot writes: identifies it even without a record. */
export const marker = '.written-by-the-bot';
