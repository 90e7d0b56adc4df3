//! The derives of `syscost-params`, which says what they are for.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Ident, Lit, LitStr, Meta,
    Result, Variant, parse_macro_input,
};

/// Implements `Value` for an enum without fields. A variant is written in lower case with underscores, or as
/// `#[value("...")]` says. Adds `ALL`, in the order of the declaration, and `name`. The first paragraph of the
/// enum's doc comment is the meaning of a parameter of this type. `#[value(role = TaskKind)]` on
/// the enum says what its values say of a row's tasks, besides their names.
#[proc_macro_derive(Value, attributes(value))]
pub fn value(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    of_enum(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

/// Implements `Params` for a struct with named fields, each of which implements `Value`, or without fields. A
/// field's name is the parameter's, and the first paragraph of its doc comment the parameter's meaning; without
/// one it is that of its type.
#[proc_macro_derive(Params)]
pub fn params(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    of_struct(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

fn of_enum(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(input.span(), "only enums have names for values"));
    };
    if let Some(other) = data
        .variants
        .iter()
        .find(|one| !matches!(one.fields, Fields::Unit))
    {
        return Err(Error::new(
            other.span(),
            "a variant with fields has no one name",
        ));
    }
    let (ident, visibility) = (&input.ident, &input.vis);
    let variants: Vec<_> = data.variants.iter().map(|one| &one.ident).collect();
    let names: Vec<LitStr> = data.variants.iter().map(name).collect::<Result<_>>()?;
    let count = variants.len();
    let meaning = meaning(&input.attrs)?;
    let role = role(&input.attrs)?;
    Ok(quote! {
        #[allow(dead_code)]
        impl #ident {
            /// All of them, in order.
            #visibility const ALL: [Self; #count] = [#(Self::#variants),*];

            /// As it is written in the names of rows.
            #visibility const fn name(self) -> &'static str {
                match self {
                    #(Self::#variants => #names,)*
                }
            }
        }

        impl ::syscost_params::Value for #ident {
            const MEANING: &'static str = #meaning;

            fn text(&self) -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed((*self).name())
            }

            fn read(text: &str) -> ::std::option::Option<Self> {
                match text {
                    #(#names => ::std::option::Option::Some(Self::#variants),)*
                    _ => ::std::option::Option::None,
                }
            }

            #role
        }
    })
}

/// The role of an enum's values, where they have one.
fn role(attributes: &[Attribute]) -> Result<Option<TokenStream>> {
    let mut role = None;
    for attribute in attributes.iter().filter(|one| one.path().is_ident("value")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("role") {
                return Err(meta.error("knows only a role"));
            }
            role = Some(meta.value()?.parse::<Ident>()?);
            Ok(())
        })?;
    }
    Ok(role.map(|role| {
        quote! {
            fn task_role(&self) -> ::syscost_params::TaskRole {
                ::syscost_params::TaskRole::#role((*self).name())
            }
        }
    }))
}

/// The first paragraph of a doc comment in one line; nothing without one.
fn meaning(attributes: &[Attribute]) -> Result<String> {
    let mut lines: Vec<String> = Vec::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("doc")) {
        let Meta::NameValue(doc) = &attribute.meta else {
            continue;
        };
        let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &doc.value
        else {
            continue;
        };
        let line = text.value();
        match line.trim() {
            "" => break,
            link if link.contains("](") || link.contains("[`") => {
                let wrong = "it is shown to people as plain text, where no link works";
                return Err(Error::new(text.span(), wrong));
            }
            line => lines.push(line.to_owned()),
        }
    }
    Ok(lines.join(" "))
}

/// What the parameter of a field means, and what must hold for that.
fn meaning_of(field: &Field) -> Result<(TokenStream, TokenStream)> {
    let own = meaning(&field.attrs)?;
    if !own.is_empty() {
        return Ok((quote!(#own), TokenStream::new()));
    }
    let of_type = &field.ty;
    let of_type = quote_spanned!(of_type.span()=> <#of_type as ::syscost_params::Value>::MEANING);
    let wrong =
        "neither the field nor its type has a doc comment that says what the parameter means";
    let check = quote_spanned!(field.span()=> const _: () = assert!(!#of_type.is_empty(), #wrong););
    Ok((of_type, check))
}

/// How a variant is written.
fn name(variant: &Variant) -> Result<LitStr> {
    match variant
        .attrs
        .iter()
        .find(|one| one.path().is_ident("value"))
    {
        Some(attribute) => attribute.parse_args(),
        None => {
            let name = snake(&variant.ident.unraw().to_string());
            Ok(LitStr::new(&name, variant.ident.span()))
        }
    }
}

/// `UnixStream` as `unix_stream`.
fn snake(camel: &str) -> String {
    let mut name = String::new();
    for letter in camel.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

fn of_struct(input: &DeriveInput) -> Result<TokenStream> {
    let wrong = || {
        Error::new(
            Span::call_site(),
            "only structs are parameters, and their fields have names",
        )
    };
    let Data::Struct(data) = &input.data else {
        return Err(wrong());
    };
    if let Fields::Unnamed(_) = &data.fields {
        return Err(wrong());
    }
    let ident = &input.ident;
    let fields: Vec<&Ident> = data
        .fields
        .iter()
        .filter_map(|one| one.ident.as_ref())
        .collect();
    let keys: Vec<String> = fields.iter().map(|one| one.unraw().to_string()).collect();
    let (visibility, proofs) = (&input.vis, quote::format_ident!("{ident}Proofs"));
    let (each, declared) = match fields.is_empty() {
        true => (quote!(()), TokenStream::new()),
        false => (
            quote!(#proofs<P>),
            quote! {
                /// What proves each parameter.
                #visibility struct #proofs<P> {
                    #(pub #fields: P,)*
                }
            },
        ),
    };
    let meanings = data.fields.iter().map(meaning_of);
    let (meanings, checks): (Vec<_>, Vec<_>) =
        meanings.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    Ok(quote! {
        #(#checks)*

        #declared

        impl ::syscost_params::Params for #ident {
            const MEANINGS: &'static [(&'static str, &'static str)] = &[#((#keys, #meanings)),*];
            type Proofs<P> = #each;

            #[allow(unused_variables)]
            fn read<'t>(text_of: impl ::std::ops::Fn(&str) -> &'t str) -> ::std::option::Option<Self> {
                ::std::option::Option::Some(Self {
                    #(#fields: ::syscost_params::Value::read(text_of(#keys))?,)*
                })
            }

            #[allow(unused_variables)]
            fn in_order<P>(proofs: #each) -> ::std::vec::Vec<P> {
                ::std::vec![#(proofs.#fields),*]
            }
        }
    })
}
