/** Whether a document is a tutorial by job, which test/docs-tutorials.test.ts carries out as a whole. */
export function isJobPage(file: string): boolean {
  return file.startsWith('docs/tutorials/') && !/\/(?:telegram|slack)\.md$/.test(file);
}
