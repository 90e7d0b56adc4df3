//! The derives of `syscost-params`, which says what they are for.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Lit, LitStr, Meta, Result,
    Variant, parse_macro_input,
};

/// Implements `Value` for an enum without fields. A variant is written in lower case with underscores, or as
/// `#[value("...")]` says. Adds `ALL`, in the order of the declaration, and `name`. The first paragraph of the
/// enum's doc comment is the meaning of a parameter of this type.
#[proc_macro_derive(Value, attributes(value))]
pub fn value(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    of_enum(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

/// Implements `Params` for a struct with named fields, each of which implements `Value`, or without fields. A
/// field's name is the parameter's, and the first paragraph of its doc comment the parameter's meaning; without
/// one it is that of its type. A struct whose fields have no names has the parameters of the first, a row; the
/// others, markers of types, are their `Default`.
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

            fn parse(text: &str) -> ::std::option::Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == text)
            }
        }
    })
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
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.span(), "only structs are parameters"));
    };
    let fields = &data.fields;
    let mut checks = Vec::new();
    let (keys, meanings, row) = match fields.iter().next() {
        Some(first) if first.ident.is_none() => {
            let (of_row, others) = (&first.ty, fields.iter().skip(1));
            let of_row = quote!(<#of_row as ::syscost_params::Params>);
            let others = others.map(|_| quote!(::std::default::Default::default()));
            let row = quote!(Self(#of_row::read(of)?, #(#others),*));
            (quote!(#of_row::KEYS), quote!(#of_row::MEANINGS), row)
        }
        _ => {
            let of_fields = fields.iter().map(meaning_of).collect::<Result<Vec<_>>>()?;
            let meanings;
            (meanings, checks) = of_fields.into_iter().unzip::<_, _, Vec<_>, _>();
            let fields: Vec<_> = fields.iter().filter_map(|one| one.ident.as_ref()).collect();
            let keys: Vec<String> = fields.iter().map(|one| one.unraw().to_string()).collect();
            let row = quote!(Self { #(#fields: ::syscost_params::value(of, #keys)?,)* });
            (
                quote!(&[#(#keys),*]),
                quote!(&[#((#keys, #meanings)),*]),
                row,
            )
        }
    };
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let ident = &input.ident;
    Ok(quote! {
        #(#checks)*

        impl #generics ::syscost_params::Params for #ident #arguments #bounds {
            const KEYS: &'static [&'static str] = #keys;

            const MEANINGS: &'static [(&'static str, &'static str)] = #meanings;

            fn read(
                of: &dyn Fn(&str) -> ::std::option::Option<::std::string::String>,
            ) -> ::std::result::Result<Self, ::syscost_params::WrongValue> {
                ::std::result::Result::Ok(#row)
            }
        }
    })
}
