/** A file of this name is in each folder that the bot writes. It identifies the folder even without a record. */
export const marker = '.written-by-the-bot';
