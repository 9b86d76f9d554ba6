/**
 * How the pages of the API look: one code block with the signatures of a method, then its text. What the theme of the
 * plugin adds to that (sections for parameters, type parameters and results, inherited members, headings for kinds) says
 * nothing that the signatures do not say, and is left out. Used by api-reference.ts.
 *
 * The code blocks made here are `typescript`, which is not run; those of docstrings are `ts`, which is.
 */
import {
  type CommentDisplayPart,
  type DeclarationReflection,
  type Reflection,
  ReflectionKind,
  type SignatureReflection,
  type SomeType,
} from 'typedoc';
import { type MarkdownPageEvent, MarkdownTheme, MarkdownThemeContext } from 'typedoc-plugin-markdown';

const LINE_WIDTH = 120;
/** What a block of a docstring begins with, until the page is whole. */
const EXAMPLE = '```example-of-docstring';

interface MemberOptions {
  readonly headingLevel: number;
  readonly nested?: boolean;
}

export class CompactTheme extends MarkdownTheme {
  override render(page: MarkdownPageEvent): string {
    return super
      .render(page)
      .replace(/^```ts$/gm, '```typescript')
      .replaceAll(EXAMPLE, '```ts');
  }

  override getRenderContext(page: MarkdownPageEvent<Reflection>): MarkdownThemeContext {
    const context = new MarkdownThemeContext(this, page, this.application.options);
    const { partials } = context;
    const { signatureTitle, declarationTitle, member, comment } = partials;
    const signatures = (model: { readonly signatures?: SignatureReflection[] }): string =>
      signaturesText(context, model.signatures ?? []);
    Object.assign(partials, {
      signatureTitle: (model: SignatureReflection, options?: { accessor?: string }) =>
        declared(signatureTitle(model, options)),
      declarationTitle: (model: DeclarationReflection) => declared(declarationTitle(model)),
      signatures,
      constructor: signatures,
      accessor: (model: DeclarationReflection) => accessorText(context, model),
      comment: (...args: Parameters<typeof comment>) => comment(...args).replace(/^```ts\b/gm, EXAMPLE),
      inheritance: () => '',
      signatureReturns: () => '',
      pageTitle: () => titleOf(page.model.name),
      member: (model: DeclarationReflection, { headingLevel, ...options }: MemberOptions) => {
        if (model.kindOf(ReflectionKind.ClassOrInterface)) return typeText(context, model, headingLevel + 1);
        const parts = model.kindOf(ReflectionKind.Variable) ? partsOf(model.type) : [];
        if (parts.length === 0) return member(model, { headingLevel, ...options });
        const text = model.comment === undefined ? '' : partials.comment(model.comment);
        return paragraphs([text, partials.members(parts, { headingLevel: headingLevel + 1 })]);
      },
      members: (models: DeclarationReflection[], options: { headingLevel: number }) =>
        paragraphs(
          models.map((each) => partials.memberContainer(each, { headingLevel: options.headingLevel })),
        ),
      memberWithGroups: (model: DeclarationReflection, options: { headingLevel: number }) =>
        typeText(context, model, options.headingLevel),
    });
    return context;
  }
}

/** A class, an interface, or a page. */
function typeText(context: MarkdownThemeContext, model: DeclarationReflection, headingLevel: number): string {
  const { partials, router } = context;
  const children = (model.children ?? []).filter(
    (child) => !router.hasOwnDocument(child) && isShown(model, child),
  );
  const constructors = children.filter((child) => child.kindOf(ReflectionKind.Constructor));
  const others = children.filter((child) => !child.kindOf(ReflectionKind.Constructor));
  const isTable =
    model.kindOf(ReflectionKind.Interface) && others.every((child) => child.kindOf(ReflectionKind.Property));
  return paragraphs([
    model.comment === undefined ? '' : partials.comment(model.comment, { headingLevel }),
    headText(context, model),
    parentsText(context, model),
    ...constructors.map((child) => signaturesText(context, child.signatures ?? [])),
    signaturesText(context, model.signatures ?? []),
    ...(model.indexSignatures ?? []).map((each) => partials.indexSignature(each, { headingLevel })),
    isTable && others.length > 0
      ? partials.propertiesTable(others, { isEventProps: false, kind: model.kind })
      : partials.members(others, { headingLevel }),
  ]);
}

/**
 * Left out: what is inherited from a documented class or interface; members of a class without a docstring, which are for
 * the engine. An abstract class shows all the rest, for those who extend it. Any other leaves out what is said above it.
 */
function isShown(parent: DeclarationReflection, child: DeclarationReflection): boolean {
  if (child.inheritedFrom?.reflection !== undefined) return false;
  if (!parent.kindOf(ReflectionKind.Class)) return true;
  const text = textOf(child);
  if (text === '' || child.name === 'toString') return false;
  if (parent.flags.isAbstract) return true;
  const above = [(child.overwrites ?? child.implementationOf)?.reflection, ...namesakesOf(parent, child)];
  return !above.some((each) => each && textOf(each) === text);
}

/** Members of the same name in the abstract classes of the page: TypeDoc does not see those above a class that is hidden. */
function namesakesOf(
  parent: DeclarationReflection,
  { name }: DeclarationReflection,
): DeclarationReflection[] {
  const classes = (parent.parent as DeclarationReflection).children ?? [];
  const abstract = classes.filter((each) => each.flags.isAbstract);
  return abstract.flatMap(({ children }) => children?.filter((child) => child.name === name) ?? []);
}

/** The docstring, of all signatures together. Overriding members without one have that of the member above. */
function textOf(model: Reflection): string {
  const own = model.isDeclaration() ? [model.signatures, model.getSignature, model.setSignature].flat() : [];
  const parts = [model, ...own].flatMap((each) => each?.comment?.summary ?? []);
  return parts.map((part: CommentDisplayPart) => part.text).join('');
}

/** `broadcast-state` as `Broadcast state`. */
export function titleOf(name: string): string {
  const words = name.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Where there is more to say than the heading says. */
function headText({ helpers }: MarkdownThemeContext, model: DeclarationReflection): string {
  if (model.typeParameters === undefined || model.typeParameters.length === 0) return '';
  const kind = model.kindOf(ReflectionKind.Class) ? 'class' : 'interface';
  return block(`${kind} ${model.name}<${plain(helpers.getTypeParameters(model.typeParameters) ?? '')}>`);
}

function parentsText(context: MarkdownThemeContext, model: DeclarationReflection): string {
  const link = (type: SomeType): string => context.partials.someType(type);
  const parents = [...(model.extendedTypes ?? []), ...(model.implementedTypes ?? [])].filter(
    (type) => type.type === 'reference' && type.reflection !== undefined,
  );
  return parents.length === 0 ? '' : `Extends ${parents.map(link).join(', ')}.`;
}

/** What a constant object such as `Types` has; other names of the same are left out. */
function partsOf(type: SomeType | undefined): DeclarationReflection[] {
  if (type?.type === 'reference' && type.name === 'Readonly') return partsOf(type.typeArguments?.[0]);
  const parts = type?.type === 'reflection' ? (type.declaration.children ?? []) : [];
  return parts.filter((part) => !textOf(part).startsWith('The same as '));
}

/** All signatures in one block, then each text once. */
function signaturesText(context: MarkdownThemeContext, signatures: readonly SignatureReflection[]): string {
  if (signatures.length === 0) return '';
  const titles = signatures.map((signature) => code(context.partials.signatureTitle(signature)));
  return paragraphs([block(titles.join('\n')), ...commentsOf(context, signatures)]);
}

function accessorText(
  context: MarkdownThemeContext,
  { getSignature, setSignature }: DeclarationReflection,
): string {
  const signatures = [getSignature, setSignature].filter((each) => each !== undefined);
  const titles = signatures.map((signature) =>
    code(
      context.partials.signatureTitle(signature, { accessor: signature === getSignature ? 'get' : 'set' }),
    ),
  );
  return paragraphs([block(titles.join('\n')), ...commentsOf(context, signatures)]);
}

function commentsOf(context: MarkdownThemeContext, signatures: readonly SignatureReflection[]): string[] {
  const comments = signatures.map(({ comment }) => comment).filter((comment) => comment !== undefined);
  return [...new Set(comments.map((comment) => context.partials.comment(comment)))];
}

/** Without the marks of Markdown. */
function plain(markdown: string): string {
  return markdown.replace(/[`\\*]|_(?=extends|_)/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** What is in a code block, on one line if it fits. */
function code(fenced: string): string {
  const text = fenced.replace(/^```\w+\n/, '').replace(/\n?```\s*$/, '');
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/([(<:=]) \| /g, '$1 ')
    .replace(/([(<]) | (?=\))/g, '$1');
  return line.length <= LINE_WIDTH ? line : text.replace(/ +$/gm, '');
}

function block(text: string): string {
  return `\`\`\`typescript\n${text}\n\`\`\``;
}

function declared(fenced: string): string {
  return block(code(fenced));
}

function paragraphs(parts: readonly string[]): string {
  return parts.filter((part) => part.trim() !== '').join('\n\n');
}
